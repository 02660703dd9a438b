import { Global, Module } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, IsNull } from 'typeorm';
import { Metrics } from '../metrics/metrics.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AbuseAlerts } from './abuse-alerts.js';
import { AlertChannels } from './alert-channels.js';
import { AlertEvaluation } from './alert-evaluation.js';
import { AlertMail } from './alert-mail.js';
import { AlertNotices } from './alert-notices.js';
import { AlertRules } from './alert-rules.js';
import { AlertWatches } from './alert-watches.js';
import { Alerts } from './alerts.js';
import { AlertEntity } from './alerts.tables.js';
import { EvaluationState } from './evaluation-state.js';
import { FailureCounts } from './failure-counts.js';

const STORES = [AbuseAlerts, AlertChannels, AlertRules, Alerts];

/** Alerts, their rules and channels, without the evaluation; also used by the command line. */
@Global()
@Module({ providers: STORES, exports: STORES })
export class AlertStoreModule {}

/** Evaluates the rules, and notifies. */
@Module({
  imports: [AlertStoreModule, WebhooksModule],
  providers: [
    AlertEvaluation,
    AlertMail,
    AlertNotices,
    AlertWatches,
    EvaluationState,
    FailureCounts,
  ],
})
export class AlertsModule {
  constructor(metrics: Metrics, @InjectDataSource() dataSource: DataSource) {
    metrics.gauge('dundun_alerts', 'Alerts that are raised, by kind.', ['kind'], async () => {
      const raised = await dataSource.manager
        .createQueryBuilder(AlertEntity, 'alert')
        .select('alert.kind', 'kind')
        .addSelect('COUNT(*)', 'alerts')
        .where({ resolvedAt: IsNull() })
        .groupBy('alert.kind')
        .getRawMany<{ kind: string; alerts: string }>();
      return raised.map(({ kind, alerts }) => [{ kind }, Number(alerts)]);
    });
  }
}
