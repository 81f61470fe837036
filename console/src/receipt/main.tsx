import { createRoot } from 'react-dom/client';
import '../ui/fonts.css';
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/controls.css';
import '../ui/data.css';
import '../ui/print.css';
import { ReceiptPage } from './receipt-page.tsx';
import '../ui/document.css';

// The page of /receipt. It has its own document and policy, and knows no sign-in.
createRoot(document.getElementById('page')!).render(<ReceiptPage />);
