import { badNames, badValues } from '../bad-values.ts';
import { expectPlaces } from './bad-values.ts';

expectPlaces([...badNames, ...Object.values(badValues), true, -1, 1e21, ['a', 'a'], [null], [[]], { a: 1 }]);
