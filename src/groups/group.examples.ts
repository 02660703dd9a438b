const GROUP = {
  id: 'grp_4yGq0cXo2vGdXk1w8bTzRs',
  name: 'Friends',
  size: 2,
  created_at: '2026-11-20T13:20:27.921Z',
};

const MEMBER = {
  id: '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
  phone: '2348012345678',
  bsuid: null,
  name: 'Ada',
};

/** Examples of the groups surface, held to their schemas by a spec. */
export const GROUP_EXAMPLES = {
  body: { friends: { name: GROUP.name } },
  group: GROUP,
  groups: { data: [GROUP], next_cursor: null },
  members: { two: { members: ['2348012345678', '2348012345679'] } },
  memberPage: { data: [MEMBER], next_cursor: null },
};
