import { createRoot } from 'react-dom/client';
import '../ui/fonts.css';
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/controls.css';
import '../ui/data.css';
import '../ui/document.css';
import { linkIn } from './link.ts';
import { LinkPage } from './link-page.tsx';
import { PayPage } from './pay-page.tsx';

// The page of /pay. It has its own document and policy. Nobody needs a sign-in for it.
const link = linkIn(location.pathname);
createRoot(document.getElementById('page')!).render(link === null ? <PayPage /> : <LinkPage link={link} />);
