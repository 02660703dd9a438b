import { randomFaults } from './random-faults.js';

randomFaults('postgres', 3);
