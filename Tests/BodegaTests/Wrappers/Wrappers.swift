import Bodega
import BodegaTesting
import Foundation
import Logging
#if Metrics
import MetricsTestKit
#endif

/// The wrappers of this package, for tests that run with any nesting of them.
struct Wrapper: Sendable, CustomStringConvertible {
    let name: String
    /// Whether the base keeps items under the keys under which they are written.
    var keepsKeys = true
    /// Whether each read calls the base.
    var readsBase = true
    /// Whether a base with queries has them inside the wrapper, too.
    var isQueryable = true
    /// Whether a base with indexes has them inside the wrapper, too.
    var keepsIndexes = true
    private let wrapping: @Sendable (any StorageEngine, StorageEngineConformance.Workspace) -> any StorageEngine

    /// The name.
    var description: String { name }

    static let all: [Wrapper] = {
        var all = [logged, prefixed, encrypted, keyHiding, retrying, cached, limited, expiring, mirrored, scoped]
        #if Metrics
        all.append(metered)
        #endif
        return all
    }()

    static let logged = Wrapper("logged") { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine {
            engine.logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }, level: .trace)
        }
        return wrapped(engine)
    }

    static let prefixed = Wrapper("prefixed", keepsKeys: false, keepsIndexes: false) { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.prefixed("a/%é") }
        return wrapped(engine)
    }

    static let encrypted = Wrapper("encrypted", keepsIndexes: false) { engine, workspace in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine {
            engine.encrypted(with: Keysets.keyset, collection: workspace.identifier)
        }
        return wrapped(engine)
    }

    static let keyHiding = Wrapper("keyHiding", keepsKeys: false, keepsIndexes: false) { engine, workspace in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine {
            engine.encrypted(
                with: Keysets.keyset, collection: workspace.identifier, hidingKeysWith: Keysets.keysetForKeys)
        }
        return wrapped(engine)
    }

    static let retrying = Wrapper("retrying") { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.retrying() }
        return wrapped(engine)
    }

    /// A cache that is small enough to evict items.
    static let cached = Wrapper("cached", readsBase: false) { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.cached(count: 20, bytes: 7_000) }
        return wrapped(engine)
    }

    /// Limits that no test of the suite reaches.
    static let limited = Wrapper("limited") { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.limited(count: 1_000_000) }
        return wrapped(engine)
    }

    static let expiring = Wrapper("expiring", keepsIndexes: false) { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.expiring(after: .seconds(86_400)) }
        return wrapped(engine)
    }

    /// The mirror answers reads that the base can't.
    static let mirrored = Wrapper("mirrored", readsBase: false, isQueryable: false) { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.mirrored(to: MemoryStorageEngine()) }
        return wrapped(engine)
    }

    /// The items of the tests are in the scope.
    static let scoped = Wrapper("scoped") { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine {
            engine.scoped(to: StorageScope(rights: .all) { $0 != Data("hidden".utf8) })
        }
        return wrapped(engine)
    }

    #if Metrics
    static let metered = Wrapper("metered") { engine, _ in
        func wrapped(_ engine: some StorageEngine) -> any StorageEngine { engine.metered(factory: TestMetrics()) }
        return wrapped(engine)
    }
    #endif

    private init(
        _ name: String,
        keepsKeys: Bool = true,
        readsBase: Bool = true,
        isQueryable: Bool = true,
        keepsIndexes: Bool = true,
        _ wrapping: @escaping @Sendable (any StorageEngine, StorageEngineConformance.Workspace) -> any StorageEngine
    ) {
        (self.name, self.keepsKeys, self.readsBase, self.wrapping) = (name, keepsKeys, readsBase, wrapping)
        (self.isQueryable, self.keepsIndexes) = (isQueryable, keepsIndexes)
    }

    /// Returns an engine inside the wrapper.
    func wrap(_ engine: any StorageEngine, in workspace: StorageEngineConformance.Workspace) -> any StorageEngine {
        wrapping(engine, workspace)
    }

    /// Returns the configuration of engines inside the wrapper.
    func wrap(_ configuration: StorageEngineConformance.Configuration) -> StorageEngineConformance.Configuration {
        var wrapped = configuration
        wrapped.name += ", " + name
        wrapped.makeEngine = { workspace in wrap(try await configuration.makeEngine(workspace), in: workspace) }
        wrapped.openCollection = nil
        // The item that the base refuses has another key outside of the wrapper.
        if !keepsKeys { wrapped.refuseOperation = nil }
        // A cached item is read even if the base is damaged.
        if !readsBase { wrapped.breakStorage = nil }
        return wrapped
    }
}

/// The keysets of tests.
enum Keysets {
    static let keyset = EncryptionKeyset()
    static let keysetForKeys = EncryptionKeyset()
}
