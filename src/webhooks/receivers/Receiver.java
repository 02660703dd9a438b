import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  static final byte[] KEY =
      Base64.getDecoder().decode(System.getenv("WEBHOOK_SECRET").substring("whsec_".length()));
  static final Pattern TYPE = Pattern.compile("\"type\":\"([^\"]+)\"");

  static boolean isGenuine(Headers headers, byte[] body) {
    String id = headers.getFirst("webhook-id");
    String at = headers.getFirst("webhook-timestamp");
    String given = headers.getFirst("webhook-signature");
    if (id == null || at == null || given == null || !at.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(at)) >= 300) return false;
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
      mac.update((id + "." + at + ".").getBytes());
      byte[] own = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
      return Stream.of(given.split(" ")).anyMatch(one -> MessageDigest.isEqual(own, one.getBytes()));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8787), 0);
    server.createContext("/", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      boolean genuine = isGenuine(exchange.getRequestHeaders(), body);
      // A JSON library reads the event; this takes its type alone.
      if (genuine) TYPE.matcher(new String(body)).results().limit(1).forEach(found -> System.out.println(found.group(1)));
      exchange.sendResponseHeaders(genuine ? 204 : 401, -1);
      exchange.close();
    });
    server.start();
  }
}
