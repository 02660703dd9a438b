import { Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { Flag, Objects, Text } from '../http/fields.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import type { ImportedViews, KeptView, Listed, NewSavedView, SavedView } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Caller, type InAccount } from './portal-request.js';
import { VIEW_LENGTHS } from './portal.tables.js';
import { MOST_VIEWS, SavedViews } from './saved-views.service.js';

const Page = () =>
  Text({
    pattern: `^[a-z-]{1,${VIEW_LENGTHS.page}}$`,
    message: 'must be the first part of the address of a list, such as messages',
  });

class PageOfViews {
  @Page() readonly page!: string;
}

class KeptViewBody implements KeptView {
  @Text({
    maxLength: VIEW_LENGTHS.name,
    pattern: '\\S',
    message: `must be 1 to ${VIEW_LENGTHS.name} characters`,
  })
  readonly name!: string;

  @Text({ maxLength: VIEW_LENGTHS.query }) readonly query!: string;
}

class NewSavedViewBody extends KeptViewBody implements NewSavedView {
  @Page() readonly page!: string;
  @Flag() readonly shared!: boolean;
}

class ImportedViewsBody extends PageOfViews implements ImportedViews {
  @Objects(KeptViewBody, {
    checked: true,
    maxItems: MOST_VIEWS,
    message: `must be a list of at most ${MOST_VIEWS} views`,
  })
  readonly views!: readonly KeptView[];
}

/** Filters of lists that the person keeps, or that an admin shares with the account. */
@PortalController('views')
@PortalAccess('viewer')
export class SavedViewsController {
  constructor(private readonly views: SavedViews) {}

  @Get()
  async list(
    @Caller() caller: InAccount,
    @ValidQuery(PageOfViews) { page }: PageOfViews,
  ): Promise<Listed<SavedView>> {
    return { data: await this.views.list(caller, page), nextCursor: null };
  }

  @Put()
  save(
    @Caller() caller: InAccount,
    @JsonBody(NewSavedViewBody) view: NewSavedViewBody,
  ): Promise<SavedView> {
    return this.views.save(caller, view);
  }

  @Post('import')
  @HttpCode(200)
  async import(
    @Caller() caller: InAccount,
    @JsonBody(ImportedViewsBody) views: ImportedViewsBody,
  ): Promise<Listed<SavedView>> {
    return { data: await this.views.import(caller, views), nextCursor: null };
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Caller() caller: InAccount, @Param('id') id: string): Promise<void> {
    return this.views.remove(caller, id);
  }
}
