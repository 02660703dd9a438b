import { zombies } from './zombies.js';

zombies('postgres');
