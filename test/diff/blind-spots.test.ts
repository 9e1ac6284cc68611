import { describeBlindSpots } from './blind-spots.ts';

// All of them are in the thorough suite.
describeBlindSpots(10);
