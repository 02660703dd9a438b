import { struck } from './struck.js';

struck('mariadb', 3);
