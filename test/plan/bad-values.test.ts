import { nothings } from '../bad-values.ts';
import { expectPlaces } from './bad-values.ts';

expectPlaces([...nothings, 'constructor', '__proto__', null, 1, [], {}, ['']]);
