import { randomFaults } from './random-faults.js';

randomFaults('sqlite', 2);
