import { killPoints } from './kill-points.js';

killPoints('postgres', 3);
