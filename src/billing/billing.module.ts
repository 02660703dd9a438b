import { MESSAGING_SPEND_GUARD } from '@dundun/messaging/ports';
import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BillingCheck } from './billing-check.js';
import { BudgetStore } from './budgets/budget.store.js';
import { BudgetsService } from './budgets/budgets.service.js';
import { AccountCharges } from './charging/account-charges.js';
import { ChargeAudit } from './charging/charge-audit.js';
import { ChargeStore } from './charging/charge.store.js';
import { MessageCosts } from './charging/message-costs.js';
import { RecentBatches } from './charging/recent-batches.js';
import { DemoBilling } from './demo-billing.js';
import { BillingService } from './ledger/billing.service.js';
import { LedgerAudit } from './ledger/ledger-audit.js';
import { LedgerStore } from './ledger/ledger.store.js';
import { MarginStore } from './margins/margin.store.js';
import { Margins } from './margins/margins.service.js';
import { RateCards } from './rate-cards/rate-cards.service.js';
import { RateImports } from './rate-cards/rate-imports.service.js';
import { RateSearches } from './rate-cards/rate-search.service.js';
import { StatementStore } from './statements/statement.store.js';
import { StatementsService } from './statements/statements.service.js';
import { BalanceNotices } from './thresholds/balance-notices.js';
import { ThresholdStore } from './thresholds/threshold.store.js';
import { ThresholdsService } from './thresholds/thresholds.service.js';

const SERVICES = [
  AccountCharges,
  BalanceNotices,
  BillingCheck,
  BillingService,
  BudgetStore,
  BudgetsService,
  ChargeAudit,
  ChargeStore,
  DemoBilling,
  MessageCosts,
  LedgerAudit,
  LedgerStore,
  MarginStore,
  Margins,
  RateCards,
  RateImports,
  RateSearches,
  RecentBatches,
  StatementStore,
  StatementsService,
  ThresholdStore,
  ThresholdsService,
  { provide: MESSAGING_SPEND_GUARD, useExisting: AccountCharges },
];

/** Prices and balances of accounts; also for the command line. */
@Module({ imports: [AccountsModule], providers: SERVICES, exports: SERVICES })
export class BillingModule {}
