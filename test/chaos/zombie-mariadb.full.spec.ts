import { zombies } from './zombies.js';

zombies('mariadb');
