import root from '../../../jest.config.js';

/** The project's own run, of the fixtures beside this file. */
export default {
  ...root,
  rootDir: root.projects[0].rootDir,
  // Jest's notice about a slow exit would come after the last lines.
  openHandlesTimeout: 0,
  projects: [{ ...root.projects[0], testMatch: ['<rootDir>/test/frame/skipped/*.fixture.ts'] }],
};
