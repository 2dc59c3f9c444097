// The shop, whatever server it runs in.

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import shoperrors.BoundaryOptions;
import shoperrors.NotFoundException;
import shoperrors.OutOfStockException;
import shoperrors.SkuTakenException;
import shoperrors.ValidationFailedException;

final class Shop {
    private static final int LONGEST = 1000;
    private static final Pattern SKU = Pattern.compile("\"sku\": *\"([^\"]*)\"");
    private static final Pattern AMOUNT = Pattern.compile("\"amount\": *-?[0-9]+");

    private Shop() {
    }

    /** A request and its answer. */
    interface Call {
        String method();

        String path();

        String header(String name);

        InputStream body() throws IOException;

        void set(String name, String value);

        /** Begins an answer; length -1: no body; 0: it is not known. */
        OutputStream begin(int status, long length) throws IOException;
    }

    /** Options whose functions throw at paths of their names. */
    static BoundaryOptions options() {
        return BoundaryOptions.standard()
                .withChoose(problem -> {
                    fail(problem.request(), "/choose");
                    return null;
                })
                .withComplete((request, error) -> fail(request, "/complete"));
    }

    private static void fail(BoundaryOptions.Request request, String end) {
        if (request.path().endsWith(end)) {
            throw new IllegalStateException("hunter2");
        }
    }

    static void serve(Call call) throws IOException, InterruptedException {
        if ("http://shop.example".equals(call.header("Origin"))) {
            call.set("Access-Control-Allow-Origin", "http://shop.example");
        }
        call.set("Set-Cookie", "session=1");
        String path = call.path();
        boolean isItem = path.matches("/items/[^/]+");
        if ("/items".equals(path)) {
            if (allow(call, "POST")) {
                create(call);
            }
        } else if (isItem || path.matches("/(typed|bare|crash|cause|large|stream|slow|endless|none)")) {
            if (allow(call, "GET")) {
                read(call, isItem ? path.substring("/items/".length()) : path);
            }
        } else {
            call.begin(404, -1);
        }
    }

    private static boolean allow(Call call, String method) throws IOException {
        boolean isHead = "HEAD".equals(call.method()) && "GET".equals(method);
        if (isHead || method.equals(call.method())) {
            return true;
        }
        call.set("Allow", "GET".equals(method) ? "GET, HEAD" : method);
        call.begin(405, -1);
        return false;
    }

    private static void read(Call call, String item) throws IOException, InterruptedException {
        switch (item) {
            case "1" -> send(call, 200, "{\"id\": \"1\"}");
            case "/typed" -> throw new SkuTakenException();
            case "/bare" -> call.begin(409, -1);
            case "/crash" -> throw new IllegalStateException("hunter2");
            case "/cause" -> throw new IllegalStateException("hunter2") {
                @Override
                public synchronized Throwable getCause() {
                    throw new UnsupportedOperationException("hunter2");
                }
            };
            case "/large" -> throw new IllegalStateException("hunter2".repeat(5_000_000));
            case "/stream" -> {
                OutputStream body = call.begin(200, 0);
                body.write("begin".getBytes(StandardCharsets.UTF_8));
                body.flush();
                throw new IllegalStateException("hunter2");
            }
            case "/none" -> call.begin(99, 0);
            case "/endless" -> {
                OutputStream body = call.begin(500, 0);
                try {
                    while (true) {
                        body.write(new byte[65_536]);
                    }
                } catch (IOException ended) {
                    System.out.println("the endless answer ended");
                    throw ended;
                }
            }
            case "/slow" -> {
                Thread.sleep(500);
                send(call, 200, "{\"done\": true}");
            }
            default -> throw new NotFoundException();
        }
    }

    private static void create(Call call) throws IOException {
        byte[] body = call.body().readNBytes(LONGEST + 1);
        if (body.length > LONGEST) {
            call.begin(413, -1);
            return;
        }
        String type = call.header("Content-Type");
        if (type == null || !type.startsWith("application/json")) {
            call.begin(415, -1);
            return;
        }
        String order = new String(body, StandardCharsets.UTF_8).strip();
        if (!order.startsWith("{") || !order.endsWith("}")) {
            call.begin(400, -1);
            return;
        }
        Matcher sku = SKU.matcher(order);
        if (!sku.find()) {
            throw new ValidationFailedException(
                    new ValidationFailedException.Details().withField("sku"));
        }
        if (!AMOUNT.matcher(order).find()) {
            throw new ValidationFailedException(
                    new ValidationFailedException.Details().withField("amount"));
        }
        if ("few".equals(sku.group(1))) {
            throw new OutOfStockException(new OutOfStockException.Details(3L));
        }
        send(call, 201, "{\"sku\": \"tea\"}");
    }

    private static void send(Call call, int status, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        call.set("Content-Type", "application/json");
        boolean isHead = "HEAD".equals(call.method());
        try (OutputStream stream = call.begin(status, isHead ? -1 : body.length)) {
            if (!isHead) {
                stream.write(body);
            }
        }
    }
}
