// Comes first: it removes a mailed link's token from the address bar before anything else runs.
import './api/mailed-link.ts';
import { createRoot } from 'react-dom/client';
import { session } from './api/store.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './ui/theme.ts';
import './ui/fonts.css';
import './ui/tokens.css';
import './ui/base.css';
import './ui/controls.css';
import './ui/data.css';
import './shell/frame.css';

applyTheme();
void session.resume();
createRoot(document.getElementById('console')!).render(<App />);
