import { findServers } from './probe-servers.js';

const missing = Object.entries(await findServers()).filter(([, { missing }]) => missing);
for (const [name, server] of missing) console.error(`${name}: ${server.missing}`);
process.exitCode = missing.length > 0 ? 1 : 0;
