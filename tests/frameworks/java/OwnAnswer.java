import com.sun.net.httpserver.HttpServer;
import headserrors.HttpServerBoundary;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Answers a request as the handler of a team writes it, and prints what leaves the boundary. */
public final class OwnAnswer {
    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.getResponseHeaders().set("X-Error-Code", exchange.getRequestURI().getQuery());
            byte[] body = "{\"detail\": \"mine\"}".getBytes();
            exchange.sendResponseHeaders(401, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }).getFilters().add(new HttpServerBoundary());
        server.start();
        URI address = URI.create(
                "http://127.0.0.1:" + server.getAddress().getPort() + "/?" + arguments[0]);
        HttpResponse<String> answer = HttpClient.newHttpClient().send(
                HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        answer.headers().map().forEach((name, values) ->
                System.out.println(name + ": " + String.join(", ", values)));
        System.out.println(answer.body());
        server.stop(0);
    }
}
