import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** The shop on Jetty, which also speaks HTTP/2: `JettyShop <port> <folder> <path=text>...` */
public class JettyShop {
  private static HttpServlet serving(String text) {
    return new HttpServlet() {
      @Override
      protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String query = request.getQueryString();
        try {
          if (query != null && query.contains("slow")) Thread.sleep(150);
        } catch (InterruptedException ended) {
          return;
        }
        response.getWriter().print(text);
      }
    };
  }

  public static void main(String[] args) throws Exception {
    Server server = new Server();
    HttpConfiguration configuration = new HttpConfiguration();
    ServerConnector connector =
        new ServerConnector(
            server,
            new HttpConnectionFactory(configuration),
            new HTTP2CServerConnectionFactory(configuration));
    connector.setHost("127.0.0.1");
    connector.setPort(Integer.parseInt(args[0]));
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler();
    for (int at = 2; at < args.length; at += 1) {
      String[] page = args[at].split("=");
      context.addServlet(new ServletHolder(serving(page[1])), page[0]);
    }
    server.setHandler(context);
    server.start();
    server.join();
  }
}
