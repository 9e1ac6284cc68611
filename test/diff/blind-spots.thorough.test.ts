import { describeBlindSpots } from './blind-spots.ts';

describeBlindSpots(1);
