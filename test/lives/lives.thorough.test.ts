import { expectLives } from './expect-lives.ts';

// `scripts/life.ts` lives any others.
expectLives([11, 12, 13, 14, 15, 16, 17, 18], 200);
