import { expectLives } from './expect-lives.ts';

expectLives([1, 2, 3], 60);
