import { struck } from './struck.js';

struck('postgres', 3);
