import { killPoints } from './kill-points.js';

killPoints('mariadb', 3);
