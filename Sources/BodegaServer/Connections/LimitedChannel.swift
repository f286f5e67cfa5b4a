#if Server
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// Connections of which there is a maximum number.
struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let connections: ConnectionCount
    let limits: StorageServerLimits
    let metrics: StorageServerMetrics?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionCounter(connections, metrics))
        }.flatMap {
            limitSilence(of: channel)
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(OldVersionAnswers(), position: .after(decoder))
            try pipeline.addHandler(DepartureWatch(), position: .after(decoder))
            return value
        }
    }

    /// Lets the system end a connection whose client does not acknowledge what it is sent.
    private func limitSilence(of channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
        // TCP_USER_TIMEOUT, in milliseconds: RFC 5482. It also counts while the client reads nothing. So it is longer
        // than the time that ``RequestWatch`` gives such a client, which counts how often that happens.
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
        return channel.setOption(option, value: Int(min(limits.stalledSeconds, 1_000_000) + 10) * 1_000)
        #else
        return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }

    func handle(value: Base.Value, logger: Logger) async {
        let pipeline = value.channel.pipeline
        let departure: ClientDeparture?
        do {
            departure = try await value.channel.eventLoop.submit {
                try pipeline.syncOperations.handler(type: DepartureWatch.self).departure
            }.get()
        } catch {
            // The connection is closed already, so its handlers are gone.
            departure = nil
        }
        await ServedConnection.$eventLoop.withValue(value.channel.eventLoop) {
            await ServedConnection.$departure.withValue(departure) {
                await base.handle(value: value, logger: logger)
            }
        }
    }
}

extension HTTPServerBuilder {
    /// Connections with the limits of a server, and with TLS if it is given.
    static func limited(
        _ limits: StorageServerLimits, tls: TLSConfiguration?, _ connections: ConnectionCount,
        _ metrics: StorageServerMetrics?
    ) -> HTTPServerBuilder {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestWatch(limits, metrics)],
            idleTimeout: .seconds(limits.idleSeconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))
        return HTTPServerBuilder { responder in
            let http = HTTP1Channel(responder: responder, configuration: configuration)
            guard let tls else {
                return LimitedChannel(base: http, connections: connections, limits: limits, metrics: metrics)
            }
            return LimitedChannel(
                base: try TLSChannel(http, tlsConfiguration: tls), connections: connections, limits: limits,
                metrics: metrics)
        }
    }
}
#endif
