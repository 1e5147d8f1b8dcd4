# vouch serve in a container (docs/deploy.md):
#   docker build -t vouch .
#   docker run -p 8080:8080 -v ~/models:/models:ro vouch --model /models/m.gguf --no-key
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        gcc libc6-dev make pkg-config binutils libpcre2-dev libutf8proc-dev libjansson-dev libmicrohttpd-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /vouch
RUN make -C /vouch EDITLINE=0 DISTILL=0 install DESTDIR=/out PREFIX=/usr

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        libpcre2-8-0 libutf8proc2 libjansson4 libmicrohttpd12 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home /nonexistent vouch
COPY --from=build /out/usr/bin/vouch /usr/bin/vouch
USER vouch
EXPOSE 8080
STOPSIGNAL SIGTERM
# Port 8080 of all addresses of the container. It needs --api-key-file, or --no-key behind a proxy that checks keys.
ENTRYPOINT ["vouch", "serve", "--host", "0.0.0.0", "--port", "8080"]
