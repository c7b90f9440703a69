# The server alone, on a small base and as nobody in particular. Bases are pinned to a minor version: patches come, changes do not.
# Needs BuildKit, as every current `docker build` and `docker compose` has it.
FROM rust:1.90-slim-bookworm AS build
WORKDIR /src
COPY . .
# The caches keep dependencies compiled between builds; what is to stay is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --bin heartline \
    && cp target/release/heartline /heartline

FROM debian:12-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/heartline --create-home heartline
COPY --from=build /heartline /usr/local/bin/heartline
USER heartline
# The embedded stores, or nothing: with Redis and MongoDB and a key of its own the server leaves it empty.
WORKDIR /var/lib/heartline
# All addresses of the container, which the server takes only with a key: give it HEARTLINE_JWT_SECRET.
ENV HEARTLINE_LISTEN=0.0.0.0:8080 \
    HEARTLINE_DATA_DIR=/var/lib/heartline
EXPOSE 8080
STOPSIGNAL SIGTERM
# Bash opens the connection itself: the image has neither curl nor wget.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.1\\r\\nHost: 127.0.0.1:8080\\r\\nConnection: close\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.1 200 ' <&3"]
ENTRYPOINT ["heartline"]
