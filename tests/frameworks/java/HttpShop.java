// The shop in the server of the JDK: java HttpShop 8080

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executors;
import shoperrors.HttpServerBoundary;

final class HttpShop {
    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        InetSocketAddress place = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        HttpServer server = HttpServer.create(place, 0);
        List<Filter> filters = server.createContext("/", HttpShop::serve).getFilters();
        filters.add(new AccessLog());
        filters.add(new HttpServerBoundary(Shop.options()));
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }

    /** Writes the correlation id of each answer, as a filter around the boundary reads it. */
    private static final class AccessLog extends Filter {
        @Override
        public String description() {
            return "access log";
        }

        @Override
        public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
            chain.doFilter(exchange);
            String id = exchange.getResponseHeaders().getFirst("X-Request-Id");
            System.out.println("answered " + exchange.getRequestURI() + " " + id);
        }
    }

    private static void serve(HttpExchange exchange) throws IOException {
        try {
            Shop.serve(new HttpCall(exchange));
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
        exchange.close();
    }

    private record HttpCall(HttpExchange exchange) implements Shop.Call {
        @Override
        public String method() {
            return exchange.getRequestMethod();
        }

        @Override
        public String path() {
            return exchange.getRequestURI().getPath();
        }

        @Override
        public String header(String name) {
            return exchange.getRequestHeaders().getFirst(name);
        }

        @Override
        public InputStream body() {
            return exchange.getRequestBody();
        }

        @Override
        public void set(String name, String value) {
            exchange.getResponseHeaders().set(name, value);
        }

        @Override
        public OutputStream begin(int status, long length) throws IOException {
            exchange.sendResponseHeaders(status, length);
            return exchange.getResponseBody();
        }
    }
}
