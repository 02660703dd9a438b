import {
  type VasOrderView,
  VasOrderError,
  VasService,
  type VasSettlement,
} from '@dundun/messaging';
import { HoldsService } from '@dundun/messaging/operations';
import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { isUUID } from 'class-validator';
import { ApiError, invalidField } from '../../http/api-error.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf, recordChange } from '../operator-gateway.js';

interface AllowOptions extends OfAccount {
  readonly daily?: string;
  readonly perNumber?: string;
  readonly currency: string;
  readonly clear?: boolean;
}

interface OrdersOptions extends Partial<OfAccount> {
  readonly cursor?: string;
}

interface OrderSettleOptions extends OfAccount {
  readonly order: string;
  readonly as: VasSettlement['as'];
  readonly by: string;
  readonly note?: string;
}

/** Commands for orders of airtime and data; their output never contains whole numbers. */
export function addVasCommands(vas: OperatorCommand): void {
  const vasOf = (app: INestApplicationContext) => app.get(VasService, { strict: false });
  vas
    .accountCommand('allow', 'let an account order, within caps for any 24 hours; shows them')
    .option('--daily <amount>', 'cap of the account, such as 50000')
    .option('--per-number <amount>', 'cap of each number, such as 5000')
    .option('--currency <code>', 'the only currency of its orders', 'NGN')
    .option('--clear', 'switch orders off again')
    .runs(async (app, { account, daily, perNumber, currency, clear }: AllowOptions) => {
      if (clear) {
        await vasOf(app).forbid({ tenant: account });
        await recordChange(app, account, 'orders.forbidden');
      } else if (daily !== undefined && perNumber !== undefined) {
        await vasOf(app).allow({ daily, perNumber, currency }, { tenant: account });
        await recordChange(app, account, 'orders.allowed', `${daily} ${currency} a day`);
      } else if (daily !== undefined || perNumber !== undefined)
        throw invalidField('allow', 'needs both --daily and --per-number');
      const allowance = await vasOf(app).allowance({ tenant: account });
      return { account, status: allowance ? 'allowed' : 'off', ...allowance };
    });
  vas
    .subcommand('orders', 'orders of an account; without one, orders without an outcome for a day')
    .option('--account <id>', 'the account')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account: tenant, cursor }: OrdersOptions) => {
      if (tenant === undefined) {
        const open = await vasOf(app).open({ limit: 50 });
        return { orders: open.map(orderRow), nextCursor: null };
      }
      const { data, nextCursor } = await vasOf(app).list({ tenant, cursor, limit: 50 });
      return { orders: data.map(orderRow), nextCursor };
    });
  vas
    .accountCommand('settle', 'record what became of an order without an outcome')
    .requiredOption('--order <id>', 'the id of the order')
    .addOption(
      new Option('--as <status>', 'what became of it')
        .choices(['delivered', 'failed'])
        .makeOptionMandatory(),
    )
    .requiredOption('--by <name>', 'who decided; it is recorded')
    .option('--note <text>', 'why; it is recorded')
    .runs(async (app, { account: tenant, order, as, by, note }: OrderSettleOptions) => {
      if (!isUUID(order)) throw invalidField('order', 'must be the id of an order');
      const also = auditOf(app, tenant, 'order.settled', `${order} as ${as}`);
      const settled = await vasOf(app)
        .settle(order.toLowerCase(), { tenant, as, by, note, also })
        .catch((error: unknown) => {
          if (!(error instanceof VasOrderError)) throw error;
          throw new ApiError('already_sent', error.message, { cause: error });
        });
      return { ...orderRow(settled), by, at: settled.settlement?.at };
    });
  vas
    .subcommand(
      'release',
      'let the orders of a restored database go; the operator knows those that it has',
    )
    .runs(async (app) => {
      const holds = app.get(HoldsService, { strict: false });
      if (await holds.restoredSince())
        throw new ApiError('already_sent', 'Release the other lanes first: dundun lanes release');
      await holds.releaseRestoredChannel('vas').catch((error: unknown) => {
        throw new ApiError('not_found', 'No orders are held as those of a restored database', {
          cause: error,
        });
      });
      await recordChange(app, null, 'orders.released');
      return { lanes: '*:vas', status: 'released' };
    });
}

function orderRow(order: VasOrderView) {
  const { id, tenant, clientReference, product, amount, currency, status, settlement } = order;
  return {
    order: id,
    account: tenant,
    clientReference,
    product,
    amount,
    currency,
    status,
    errorCode: order.errorCode,
    createdAt: order.createdAt.toISOString(),
    settledBy: settlement?.by ?? null,
  };
}
