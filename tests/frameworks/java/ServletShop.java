// The shop in Tomcat: java ServletShop 8080

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import shoperrors.Errors;
import shoperrors.Rendered;
import shoperrors.ServletBoundary;

final class ServletShop {
    public static void main(String[] arguments) throws Exception {
        String folder = Files.createTempDirectory("shop").toString();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder);
        Connector connector = new Connector();
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder);
        Tomcat.addServlet(context, "shop", new ShopServlet()).setAsyncSupported(true);
        context.addServletMappingDecoded("/", "shop");
        FilterDef filter = new FilterDef();
        filter.setFilterName("errors");
        filter.setFilter(new ServletBoundary(Shop.options()));
        filter.setAsyncSupported("true");
        context.addFilterDef(filter);
        FilterMap everywhere = new FilterMap();
        everywhere.setFilterName("errors");
        everywhere.addURLPattern("/*");
        everywhere.setDispatcher(DispatcherType.REQUEST.name());
        everywhere.setDispatcher(DispatcherType.ASYNC.name());
        context.addFilterMap(everywhere);
        ((StandardHost) tomcat.getHost()).setErrorReportValveClass(ErrorValve.class.getName());
        tomcat.start();
    }

    /** What Tomcat refuses before any filter. */
    public static final class ErrorValve extends ErrorReportValve {
        @Override
        protected void report(Request request, Response response, Throwable thrown) {
            if (response.getStatus() < 400 || response.getContentWritten() > 0) {
                return;
            }
            Rendered answer = Errors.bare(response.getStatus()).render();
            response.setStatus(answer.status());
            answer.headers().forEach((name, values) -> response.setHeader(name, values.get(0)));
            try {
                response.getOutputStream().write(answer.body());
                response.finishResponse();
            } catch (IOException gone) {
                // the client has gone
            }
        }
    }

    private static final class ShopServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            String path = request.getRequestURI();
            if (path.startsWith("/later/")) {
                later(request, response);
                return;
            }
            if (path.startsWith("/forward/")) {
                request.getRequestDispatcher(path.substring("/forward".length()))
                        .forward(request, response);
                return;
            }
            try {
                if (answersItself(request.getServletPath(), response)) {
                    return;
                }
                Shop.serve(new ServletCall(request, response));
            } catch (InterruptedException interrupted) {
                throw new IOException(interrupted);
            }
        }

        private static boolean answersItself(String path, HttpServletResponse response)
                throws IOException {
            switch (path) {
                case "/refused" -> response.sendError(404);
                case "/status" -> {
                    response.setStatus(404);
                    response.getWriter().write("hunter2");
                }
                case "/message" -> {
                    try { // only older servlets have it
                        HttpServletResponse.class.getMethod("setStatus", int.class, String.class)
                                .invoke(response, 404, "hunter2");
                    } catch (ReflectiveOperationException newer) {
                        response.setStatus(404);
                    }
                }
                case "/fine" -> response.getWriter().write("fine");
                case "/both" -> {
                    response.getWriter().write("a");
                    response.getOutputStream().write('b');
                }
                case "/again" -> {
                    response.getWriter().write("hunter2");
                    response.resetBuffer();
                    response.getWriter().write("fine");
                }
                default -> {
                    return false;
                }
            }
            return true;
        }

        /** Answers from another thread, or in a second dispatch. */
        private static void later(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            switch (request.getRequestURI()) {
                case "/later/status" -> request.startAsync().start(() -> {
                    response.setStatus(409);
                    request.getAsyncContext().complete();
                });
                case "/later/given" -> {
                    AsyncContext context = request.startAsync();
                    context.start(() -> {
                        ((HttpServletResponse) context.getResponse()).setStatus(404);
                        context.complete();
                    });
                }
                case "/later/dispatched" -> {
                    AsyncContext context = request.startAsync();
                    context.addListener(new Dispatching());
                    context.setTimeout(100);
                }
                case "/later/fine" -> request.startAsync().start(() -> {
                    try {
                        response.getWriter().write("fine");
                    } catch (IOException gone) {
                        throw new IllegalStateException(gone);
                    }
                    request.getAsyncContext().complete();
                });
                case "/later/typed" -> request.startAsync().dispatch("/typed");
                default -> request.startAsync().setTimeout(100);
            }
        }
    }

    /** Dispatches a request whose time is up. */
    private static final class Dispatching implements AsyncListener {
        @Override
        public void onTimeout(AsyncEvent event) {
            event.getAsyncContext().dispatch("/fine");
        }

        @Override
        public void onComplete(AsyncEvent event) {
        }

        @Override
        public void onError(AsyncEvent event) {
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
        }
    }

    private record ServletCall(HttpServletRequest request, HttpServletResponse response)
            implements Shop.Call {
        @Override
        public String method() {
            return request.getMethod();
        }

        @Override
        public String path() {
            return request.getRequestURI();
        }

        @Override
        public String header(String name) {
            return request.getHeader(name);
        }

        @Override
        public InputStream body() throws IOException {
            return request.getInputStream();
        }

        @Override
        public void set(String name, String value) {
            response.setHeader(name, value);
        }

        @Override
        public OutputStream begin(int status, long length) throws IOException {
            if (length < 0) {
                response.sendError(status);
            } else {
                response.setStatus(status);
            }
            return response.getOutputStream();
        }
    }
}
