import 'reflect-metadata';
import { runCommandLine } from './command-line.js';

// The reader of a pipe, such as `head`, has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommandLine(process.argv);
