public import Bodega
import BodegaRemote
import BodegaServer
public import Foundation
public import Gallery
public import Logging
public import ServiceLifecycle

/// The server that synchronizes the galleries of several devices, which all run on this machine here.
///
/// It has a database of its own, and gives each device a token that is valid while the program runs. It can be switched
/// off and on. While it is off, no server listens on its port, as when a device has no network.
public actor SyncServer: Service, CustomStringConvertible {
    private let collections: StorageCollections
    private let access = DeviceAccess()
    private let logger: Logger
    private var port = 0
    private var server: Task<Void, any Error>?
    private var lastSwitch: Task<Void, any Error>?
    private var databases: [String: RemoteDatabase] = [:]

    /// Creates a server that is off.
    ///
    /// - Parameters:
    ///   - directory: The folder of its database.
    ///   - logger: The logger.
    /// - Throws: A `StorageError` if the database could not be opened.
    public init(directory: FileManager.Directory, logger: Logger) async throws {
        let file = try SQLiteStorageEngine(opening: directory, databaseFilename: "server")
        var engines: [String: any StorageEngine] = [:]
        for name in SyncedCollections.names { engines[name] = try file.collection(named: name) }
        var collections = StorageCollections(engines)
        // With them, a change that is sent twice because an answer was lost is made once.
        collections.receipts = try file.collection(named: "receipts")
        self.collections = collections
        self.logger = logger
    }

    /// The name of the service in the log.
    public nonisolated var description: String { "Synchronization" }

    /// Whether the server listens.
    private var isOnline: Bool { server != nil }

    /// Switches the server on, waits for the shutdown, and switches it off.
    public func run() async throws {
        try await setOnline(true)
        try? await gracefulShutdown()
        try await setOnline(false)
    }

    // MARK: Clients

    /// The connection of a device, which the server knows by its name.
    public nonisolated func connection(of device: String) -> SyncConnection {
        SyncConnection(
            collection: { try await self.database(of: device).collection(named: $0) },
            isOn: { await self.isOnline },
            setOn: { try await self.setOnline($0) })
    }

    /// The collections of one device are of one object, so that transactions can change several of them.
    private func database(of device: String) throws -> RemoteDatabase {
        if let database = databases[device] { return database }
        guard port != 0, let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw StorageError(.unreachable, "The server has not been switched on yet.")
        }
        let database = try RemoteDatabase(url) { [access] in access.token(of: device) }
        databases[device] = database
        return database
    }

    // MARK: Switching

    /// Switches the server on or off, and returns when that is done.
    ///
    /// - Throws: The server's error if it cannot listen.
    public func setOnline(_ isOnline: Bool) async throws {
        // One at a time: a second call must not start a second server while the first one is starting.
        let task = Task { [lastSwitch] in
            _ = await lastSwitch?.result
            if isOnline { try await start() } else { try await stop() }
        }
        lastSwitch = task
        try await task.value
    }

    private func start() async throws {
        if server != nil { return }
        let (ports, listening) = AsyncStream<Int>.makeStream()
        var options = StorageServerOptions()
        // The devices know the port.
        options.port = port
        let server = StorageServer(access: access, collections: collections, options: options, logger: logger) { port in
            listening.yield(port)
        }
        let task = Task {
            defer { listening.finish() }
            try await server.run()
        }
        guard let port = await ports.first(where: { _ in true }) else { return try await task.value }
        self.port = port
        self.server = task
    }

    private func stop() async throws {
        guard let server else { return }
        self.server = nil
        server.cancel()
        try await server.value
    }
}
