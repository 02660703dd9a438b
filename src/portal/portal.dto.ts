import type { Page } from '@dundun/messaging';
import { BUDGET_PERIODS, type BudgetPeriod } from '../billing/budgets/budget-period.js';
import { Language, TemplateName } from '../accounts/templates.js';
import {
  Choice,
  emailRemedy,
  Field,
  Flag,
  isText,
  List,
  PhoneNumber,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../http/fields.js';
import { PageQueryOf, sealedCursor } from '../http/page.dto.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../http/rfc3339.js';
import { Rule } from '../http/validation.js';
import {
  type BalanceNotices,
  type BudgetName,
  type ChangePassword,
  type CurrentPassword,
  INSIGHTS_GROUPS,
  INSIGHTS_PERIODS,
  type InsightsGroup,
  type InsightsPeriod,
  type LiftSuppression,
  type Listed,
  type MemberChange,
  type NewAccount,
  type NewApiKey,
  type NewBudget,
  type NewDomain,
  type NewInvitation,
  type NewRates,
  type NewSender,
  type NewSuppression,
  type NumberToCall,
  type Redeliver,
  type ResumeAccount,
  type Role,
  ROLES,
  type SecondFactorCode,
  type SecurityChange,
  type SenderDecision,
  type SettleOrder,
  type SetUp,
  type SetupCode,
  type SignIn,
  type NewTemplate,
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  WEBHOOK_PERIODS,
  type WebhookAttemptFilter,
  type WebhookPeriod,
} from './portal-api.js';

export class PortalQuery extends PageQueryOf(100, 50) {}

/** The answer of a list; `PortalQuery` reads its cursor. */
export function listedOf<T, A>({ data, nextCursor }: Page<T>, answer: (item: T) => A): Listed<A> {
  return { data: data.map(answer), nextCursor: sealedCursor(nextCursor) };
}

/** Query of the attempts of a webhook. */
export class AttemptsQuery extends PortalQuery implements WebhookAttemptFilter {
  @Text({ optional: true, minLength: 1, maxLength: 64 }) readonly event?: string;
  @Choice(['success', 'failed'], { optional: true }) readonly result?: 'success' | 'failed';

  @Text({
    optional: true,
    pattern: '^(?:[1-5][0-9]{2}|[a-z_]{1,32})$',
    message: 'must be a status such as 500, or an error such as timeout',
  })
  readonly code?: string;

  @Timestamp({ optional: true }) readonly since?: string;
  @Timestamp({ optional: true }) readonly until?: string;
}

export class SuccessQuery {
  @Choice(WEBHOOK_PERIODS, { optional: true }) readonly period?: WebhookPeriod;
}

/** Query of a list that masks addresses. */
export class RevealQuery extends PortalQuery {
  /** Whole addresses, for roles that reveal. */
  @Choice(['true'], { optional: true }) readonly reveal?: 'true';
}

/** Longer ones are refused before they are hashed. */
const LONGEST_PASSWORD = 1_024;

const Email = () => Text({ minLength: 1, maxLength: 320 });
const Password = () => Text({ minLength: 1, maxLength: LONGEST_PASSWORD });
const Code = (optional = false) =>
  Text({
    optional,
    minLength: 6,
    maxLength: 32,
    message: 'must be a code of six digits, or a recovery code',
  });
const AccountName = () => Text({ minLength: 1, maxLength: 32 });
const RoleField = () => Choice(ROLES);

/** Addresses of people who get mail. */
const Address = (optional = false) => Field({ type: 'string', optional }, Rule(emailRemedy));

export class SignInBody implements SignIn {
  @Email() readonly email!: string;
  @Password() readonly password!: string;
  @Code(true) readonly secondFactor?: string;
}

export class CurrentPasswordBody implements CurrentPassword {
  @Password() readonly current!: string;
}

export class CodeBody implements SecondFactorCode {
  @Code() readonly code!: string;
}

export class SecurityBody implements SecurityChange {
  @Flag() readonly requiresSecondFactor!: boolean;
}

export class ChangePasswordBody implements ChangePassword {
  @Password() readonly current!: string;
  @Password() readonly password!: string;
}

export class SetupCodeBody implements SetupCode {
  @Text({ minLength: 1, maxLength: 200, message: 'must be the code of a set-up link' })
  readonly code!: string;
}

export class SetUpBody extends SetupCodeBody implements SetUp {
  @Email() readonly email!: string;
  @Password() readonly password!: string;
  @Code(true) readonly secondFactor?: string;
}

export class RedeliverBody implements Redeliver {
  @Timestamp({ optional: true }) readonly since?: string;

  @Uuid({ optional: true, message: 'must be the deliveryId of an attempt' })
  readonly deliveryId?: string;
}

export class InvitationBody implements NewInvitation {
  @RoleField() readonly role!: Role;
  @Address(true) readonly email?: string;
}

export class MemberChangeBody implements MemberChange {
  @RoleField() readonly role!: Role;
}

export class SenderBody implements NewSender {
  @Text({ minLength: 1, maxLength: 16 }) readonly channel!: string;
  @Text({ minLength: 1, maxLength: 64 }) readonly sender!: string;
}

export class SenderDecisionBody extends SenderBody implements SenderDecision {
  @AccountName() readonly accountId!: string;
}

export class TemplateBody implements NewTemplate {
  @TemplateName() readonly name!: string;
  @Language() readonly language!: string;
  @Choice(TEMPLATE_CATEGORIES) readonly category!: NewTemplate['category'];
  @Choice(TEMPLATE_STATUSES) readonly status!: NewTemplate['status'];
  @WholeNumber({ minimum: 0, maximum: 100 }) readonly paramsCount!: number;
  @Text({ optional: true, maxLength: 1_024 }) readonly body?: string;
}

/** More than all channels have. */
const MOST_SCOPES = 100;

export class ApiKeyBody implements NewApiKey {
  @List({
    items: { type: 'string' },
    minItems: 1,
    maxItems: MOST_SCOPES,
    entry: (scope) => (typeof scope === 'string' ? undefined : 'must be a scope'),
    message: `must be a list of 1 to ${MOST_SCOPES} scopes`,
  })
  readonly scopes!: readonly string[];

  /** `null`: never. */
  @Field(
    { type: 'string', optional: true },
    Rule((value) => (value === null || parseTimestamp(value) ? undefined : TIMESTAMP_RULE)),
  )
  readonly expiresAt?: string | null;
}

export class DomainBody implements NewDomain {
  @Text({ minLength: 1, maxLength: 253 }) readonly name!: string;
}

export class SuppressionBody implements NewSuppression {
  @Address() readonly email!: string;

  @Choice(['transactional', 'marketing'], { optional: true })
  readonly category?: 'transactional' | 'marketing';
}

export class LiftSuppressionBody implements LiftSuppression {
  @Address() readonly email!: string;
}

export class SuppressionsQuery extends RevealQuery {
  @Address(true) readonly email?: string;
}

export class DoNotCallBody implements NumberToCall {
  @PhoneNumber() readonly phone!: string;
}

export class DoNotCallQuery extends RevealQuery {
  @PhoneNumber({ optional: true }) readonly phone?: string;
}

export class AccountBody implements NewAccount {
  @Text({ minLength: 1, maxLength: 100 }) readonly name!: string;
}

export class ResumeBody implements ResumeAccount {
  @Choice(['send', 'cancel']) readonly waiting!: 'send' | 'cancel';
}

const Narrowed = (): PropertyDecorator => Text({ optional: true, minLength: 1, maxLength: 255 });

export class InsightsQuery {
  @Choice(INSIGHTS_PERIODS, { optional: true }) readonly period?: InsightsPeriod;
  @Choice(INSIGHTS_GROUPS, { optional: true }) readonly by?: InsightsGroup;
  @Narrowed() readonly channel?: string;
  @Narrowed() readonly provider?: string;
  @Narrowed() readonly country?: string;
  @Narrowed() readonly sender?: string;
  @Narrowed() readonly tag?: string;
  @Narrowed() readonly category?: string;
}

export class OrdersQuery extends PortalQuery {
  @Text({ optional: true, minLength: 1, maxLength: 255 }) readonly q?: string;
}

export class BudgetNameBody implements BudgetName {
  @Text({ optional: true, minLength: 1, maxLength: 64 }) readonly key?: string;
  @Choice(BUDGET_PERIODS) readonly period!: BudgetPeriod;
}

export class BudgetBody extends BudgetNameBody implements NewBudget {
  @Text({ maxLength: 20 }) readonly limit!: string;
}

const isLine = (most: number) => (entry: unknown) =>
  isText(entry, most) ? undefined : `must be a text of at most ${most} characters`;

export class BalanceNoticesBody implements BalanceNotices {
  @List({
    items: { type: 'string' },
    maxItems: 10,
    entry: isLine(20),
    message: 'must be a list of at most ten amounts',
  })
  readonly thresholds!: readonly string[];

  @List({
    items: { type: 'string' },
    maxItems: 5,
    entry: isLine(254),
    message: 'must be a list of at most five e-mail addresses',
  })
  readonly emails!: readonly string[];
}

export class MarginsQuery {
  @Text({ minLength: 7, maxLength: 7 }) readonly month!: string;
  @Text({ optional: true, minLength: 1, maxLength: 36 }) readonly cursor?: string;
}

const CardName = (): PropertyDecorator => Text({ minLength: 1, maxLength: 64 });
const VersionName = (optional = false): PropertyDecorator =>
  Text({ optional, minLength: 1, maxLength: 36 });

export class RateFindQuery {
  @CardName() readonly card!: string;
  @PhoneNumber() readonly number!: string;
}

export class RateCompareQuery {
  @VersionName() readonly before!: string;
  @VersionName() readonly after!: string;
}

export class RatesBody implements NewRates {
  @Text({ minLength: 1, maxLength: 16 << 20 }) readonly csv!: string;
  @CardName() readonly card!: string;
  @Text({ minLength: 1, maxLength: 3 }) readonly currency!: string;
  @Text({ optional: true, minLength: 1, maxLength: 40 }) readonly from?: string;
  @Flag({ optional: true }) readonly anyCurrency?: boolean;
  @VersionName(true) readonly follows?: string;
}

export class SettleBody implements SettleOrder {
  @AccountName() readonly accountId!: string;
  @Choice(['delivered', 'failed']) readonly as!: SettleOrder['as'];
  @Text({ optional: true, maxLength: 1_000 }) readonly note?: string;
}
