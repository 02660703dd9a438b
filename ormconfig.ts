import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './src/config/database.js';
import { loadEnvironmentFile, readEnvironment } from './src/config/environment.js';
import { gatewayTables } from './src/gateway-database.js';

loadEnvironmentFile();

const environment = readEnvironment(process.env);

/** For TypeORM's command line: `npm run migration:run` builds and runs what is pending. */
export const dataSource = new DataSource(
  dataSourceOptions(environment.DATABASE_URL, gatewayTables(environment)),
);
