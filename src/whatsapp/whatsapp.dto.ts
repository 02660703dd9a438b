import { IsOptional, Matches } from 'class-validator';
import { PageOf } from '../http/page-query.js';

/** `GET /whatsapp/ng/v1/contacts` */
export class ContactsQuery extends PageOf(1_000, 100) {
  @IsOptional()
  @Matches(/^[1-9][0-9]{6,14}$/, { message: 'must be 7 to 15 digits with country code' })
  readonly phone?: string;

  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,255}$/, { message: 'must be 1 to 255 visible ASCII characters' })
  readonly bsuid?: string;
}

/** `GET /whatsapp/ng/v1/templates` */
export class TemplatesQuery extends PageOf(1_000, 100) {}
