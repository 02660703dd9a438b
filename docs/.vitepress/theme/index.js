import DefaultTheme from 'vitepress/theme';
import Landing from './landing.vue';
import './site.css';

/** The default theme, and the page that `layout: landing` names. */
export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('landing', Landing);
  },
};
