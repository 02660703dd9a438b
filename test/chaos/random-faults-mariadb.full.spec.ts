import { randomFaults } from './random-faults.js';

randomFaults('mariadb', 3);
