import './styles/index.css';
import { startPages } from './app/start.js';
import { Shell } from './app/shell.js';
import { batches, contacts, lanes, messages, overview, phone } from './pages/pages.js';

startPages(() => (
  <Shell product={{ pages: [overview, messages, batches, contacts, phone, lanes] }} />
));
