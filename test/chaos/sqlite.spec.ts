import { killPoints } from './kill-points.js';

killPoints('sqlite', 1);
