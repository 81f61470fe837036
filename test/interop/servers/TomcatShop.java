import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;

/** The shop on Tomcat, which also speaks HTTP/2: `TomcatShop <port> <folder> <path=text>...` */
public class TomcatShop {
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
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(args[1]);
    tomcat.setPort(Integer.parseInt(args[0]));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    tomcat.getConnector().addUpgradeProtocol(new Http2Protocol());
    Context context = tomcat.addContext("", args[1]);
    for (int at = 2; at < args.length; at += 1) {
      String[] page = args[at].split("=");
      Tomcat.addServlet(context, page[0], serving(page[1]));
      context.addServletMappingDecoded(page[0], page[0]);
    }
    tomcat.start();
    tomcat.getServer().await();
  }
}
