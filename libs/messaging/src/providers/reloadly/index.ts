export { reloadly, type ReloadlyOptions } from './reloadly.js';
