public import Bodega
public import Foundation

extension StorageEngineConformance {

    /// The guarantees of an engine beyond the members of the protocol. What the properties of its
    /// ``/Bodega/StorageBackend`` say, such as that it has a log or indexes, need not be declared.
    ///
    /// Every engine should promise all of them. If an engine can't, omit the capability here and document it.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Items come in insertion order. Without it, results are compared regardless of order.
        public static let ordered = Capabilities(rawValue: 1 << 0)

        /// Keys come back equal to those written, their kind included, and unequal keys name different items. Without
        /// it, keys are compared by their value.
        public static let exactKeys = Capabilities(rawValue: 1 << 1)

        /// A batch that fails changes nothing.
        public static let atomicBatches = Capabilities(rawValue: 1 << 2)

        /// A call that reads several items never sees part of a batch.
        public static let isolatedBatches = Capabilities(rawValue: 1 << 3)

        /// The engine uses ``StorageEngineConformance/Workspace/clock``. Only then can dates be checked exactly.
        public static let injectedClock = Capabilities(rawValue: 1 << 4)

        /// An engine that is made in a workspace after an earlier one was released has the earlier one's items.
        public static let persistent = Capabilities(rawValue: 1 << 5)

        /// Engines that exist in one workspace at the same time share their items, such as engines on one file. Only
        /// the checks of change feeds require it; it is not part of ``all``.
        public static let shared = Capabilities(rawValue: 1 << 6)

        /// Reads in ``/Bodega/StorageDatabase/atOneMoment(_:)`` answer from one moment. It matters only for an engine
        /// with a ``/Bodega/StorageBackend/database``.
        public static let moments = Capabilities(rawValue: 1 << 7)

        /// All capabilities except ``shared``.
        public static let all: Capabilities = [
            .ordered, .exactKeys, .atomicBatches, .isolatedBatches, .injectedClock, .persistent,
            .moments,
        ]
    }

    /// An engine and its capabilities.
    public struct Configuration: Sendable, CustomStringConvertible {

        /// The name of the engine, for reports.
        public var name: String

        /// The capabilities that the engine promises.
        public var capabilities: Capabilities

        /// Makes an engine in a workspace. In a new workspace the engine is empty. In one that was used before, a
        /// ``Capabilities/persistent`` engine has the existing items.
        public var makeEngine: @Sendable (Workspace) async throws -> any StorageEngine

        /// The largest value to write, in bytes; by default 64 MiB.
        public var largestValue = 64 << 20

        /// The number of items to write, read and remove with one call; by default 120,000.
        public var largestBatch = 120_000

        /// The maximum wait for a prompt action of the engine, like reporting a change; by default ten minutes.
        public var patience = Duration.seconds(600)

        /// The texts from which the checks and the model test make keys; by default ``HostileTexts``.
        ///
        /// Any string can be a key, so most engines need no other texts. An engine that can't store some of them fails,
        /// and the report contains the key. For an engine whose documentation excludes such texts, set other texts
        /// here, all different, to check the remaining contracts. Such an engine can't promise
        /// ``Capabilities/exactKeys``.
        public var keyTexts = HostileTexts.all

        /// Opens another collection of the engine's storage by name.
        ///
        /// `nil`, the default, if none exist, which skips the check that different names are different collections.
        ///
        /// It may throw a ``/Bodega/StorageError`` with ``/Bodega/StorageError/Code/invalidArgument`` for a name that
        /// can't be used. It is called after the engine was made.
        public var openCollection: (@Sendable (any StorageEngine, _ name: String) async throws -> any StorageEngine)?

        /// Prepares a failure: makes the engine refuse an operation from now on, and returns that operation.
        ///
        /// `nil`, the default, if the engine refuses none. The checks of failed batches are skipped then.
        ///
        /// It is called after the engine was made. Other operations must still work.
        public var refuseOperation: (@Sendable (any StorageEngine, Workspace) async throws -> StorageOperation)?

        /// Damages the engine's stored data so that it can't be read.
        ///
        /// `nil`, the default, if data can't be damaged. The check that failures differ from absence is skipped then.
        public var breakStorage: (@Sendable (any StorageEngine, Workspace) async throws -> Void)?

        /// Removes data that the engine left outside the workspace's directory, which is removed in any case.
        public var discard: (@Sendable (Workspace) async throws -> Void)?

        /// Describes an engine.
        ///
        /// - Parameters:
        ///   - name: The name of the engine, for reports.
        ///   - capabilities: The capabilities that the engine promises.
        ///   - makeEngine: Makes an engine in a workspace, see ``makeEngine``.
        public init(
            _ name: String,
            capabilities: Capabilities = .all,
            makeEngine: @escaping @Sendable (Workspace) async throws -> any StorageEngine
        ) {
            self.name = name
            self.capabilities = capabilities
            self.makeEngine = makeEngine
        }

        /// The name.
        public var description: String { name }

        func allows(_ check: Check) -> Bool {
            guard capabilities.isSuperset(of: check.capabilities) else { return false }
            return switch check.need {
            case nil: true
            case .refusedOperation: refuseOperation != nil
            case .brokenStorage: breakStorage != nil
            case .collections: openCollection != nil
            }
        }
    }

    /// The environment of one check.
    public struct Workspace: Sendable {

        /// A unique name of lower-case letters and digits that begins with a letter.
        public let identifier: String

        /// A folder that doesn't exist yet. It is removed after the check.
        public let directory: FileManager.Directory

        /// The clock of the check. It advances only when the check advances it.
        public let clock = ManualClock()

        /// Creates a workspace.
        public init() {
            identifier = "w" + UUID().uuidString.lowercased().filter { $0 != "-" }
            directory = .temporary(appendingPath: "bodega-conformance-\(identifier)")
        }
    }
}
