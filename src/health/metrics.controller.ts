import { timingSafeEqual } from 'node:crypto';
import { Controller, Get, Header, Headers, Inject } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import { Metrics } from '../metrics/metrics.js';

/** Metrics for Prometheus: with the token where one is set, else on loopback only. */
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('cache-control', 'no-store')
  read(@Headers('authorization') authorization: string | undefined): Promise<string> {
    const { HOST, METRICS_TOKEN } = this.environment;
    const isOpen = METRICS_TOKEN === undefined && isLoopback(HOST);
    if (!isOpen && !hasToken(authorization, METRICS_TOKEN))
      throw new ApiError(
        'unauthorized',
        METRICS_TOKEN === undefined
          ? 'Metrics are served on loopback only until the operator sets METRICS_TOKEN'
          : 'Send METRICS_TOKEN as "Authorization: Bearer "',
        { headers: { 'www-authenticate': 'Bearer', 'content-type': 'application/json' } },
      );
    return this.metrics.registry.metrics();
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const given = Buffer.from(authorization);
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
