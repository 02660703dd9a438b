import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadEnvironmentFile, readEnvironment } from './src/config/environment.js';
import { dataSourceOptions } from './src/gateway-database.js';

loadEnvironmentFile();

/** For TypeORM's command line; `npm run migration:run` takes the migration lock, and this does not. */
export const dataSource = new DataSource(dataSourceOptions(readEnvironment(process.env)));
