import '../../../libs/dashboard/ui/styles/index.css';
import './portal.css';
import { startPages } from '@dundun/dashboard/ui';
import { Portal } from './portal.js';

startPages(Portal);
