public import Bodega
public import Foundation

extension StorageEngineConformance {

    /// What an engine promises beyond the members of the protocol.
    ///
    /// Every engine should promise all of it. An engine that can't says so here, and in its documentation.
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

        /// A reader that takes several items with one call never sees half of a batch.
        public static let isolatedBatches = Capabilities(rawValue: 1 << 3)

        /// The engine takes the time from ``StorageEngineConformance/Workspace/clock``. Only then can dates be checked
        /// exactly.
        public static let injectedClock = Capabilities(rawValue: 1 << 4)

        /// An engine made a second time in a workspace, after the first was dropped, has its items.
        public static let persistent = Capabilities(rawValue: 1 << 5)

        /// Engines made in one workspace at the same time have the same items, as those on one file have. Only the checks of
        /// change feeds ask for it; it is not part of ``all``.
        public static let shared = Capabilities(rawValue: 1 << 6)

        /// All of it, but for ``shared``.
        public static let all: Capabilities = [
            .ordered, .exactKeys, .atomicBatches, .isolatedBatches, .injectedClock, .persistent,
        ]
    }

    /// An engine and what it promises.
    public struct Configuration: Sendable, CustomStringConvertible {

        /// The name of the engine, for reports.
        public var name: String

        /// What the engine promises.
        public var capabilities: Capabilities

        /// Makes an engine: fresh and empty in a workspace that it has not seen; with the items that are there in one
        /// that it has, if it is ``Capabilities/persistent``.
        public var makeEngine: @Sendable (Workspace) async throws -> any StorageEngine

        /// The largest value to write, in bytes; by default 64 MiB.
        public var largestValue = 64 << 20

        /// The number of items to write, read and remove with one call; by default 120,000.
        public var largestBatch = 120_000

        /// How long to wait, at most, for what an engine should do soon, such as telling a change; by default ten minutes.
        public var patience = Duration.seconds(600)

        /// The texts of which the keys are made that the checks and the model test use; by default ``HostileTexts``.
        ///
        /// Any string can be a key, so an engine needs no others. One that can't hold some of them fails, and the report has
        /// the key in it. An engine whose documentation excludes such texts can be given others here, of which no two are
        /// equal, and so be checked for the rest; it can't promise ``Capabilities/exactKeys`` then.
        public var keyTexts = HostileTexts.all

        /// Opens another collection of what an engine is a collection of, by its name.
        ///
        /// `nil`, the default, if there are none; then nobody checks that different names are different collections.
        ///
        /// It may throw a ``Bodega/StorageError`` with ``Bodega/StorageError/Code/invalidArgument`` for a name that can't be
        /// used. The engine has been made when this is called.
        public var openCollection: (@Sendable (any StorageEngine, _ name: String) async throws -> any StorageEngine)?

        /// Prepares a failure: makes the engine refuse an operation from then on, and returns that operation.
        ///
        /// `nil`, the default, if there is no way to; then nobody checks what a failed batch leaves behind.
        ///
        /// The engine has been made when this is called. Other operations must go on working.
        public var refuseOperation: (@Sendable (any StorageEngine, Workspace) async throws -> StorageOperation)?

        /// Damages what the engine has stored, so that it can't be read any more.
        ///
        /// `nil`, the default, if there is no way to; then nobody checks that failures are told from absence.
        public var breakStorage: (@Sendable (any StorageEngine, Workspace) async throws -> Void)?

        /// Removes what the engine left behind other than in the workspace's directory, which is removed anyway.
        public var discard: (@Sendable (Workspace) async throws -> Void)?

        /// Describes an engine.
        ///
        /// - Parameters:
        ///   - name: The name of the engine, for reports.
        ///   - capabilities: What the engine promises.
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
            capabilities.isSuperset(of: check.capabilities)
                && (!check.needsRefusedOperation || refuseOperation != nil)
                && (!check.needsBrokenStorage || breakStorage != nil)
                && (!check.needsCollections || openCollection != nil)
        }
    }

    /// Where one check takes place.
    public struct Workspace: Sendable {

        /// A name that no other workspace has, of lower-case letters and digits, beginning with a letter.
        public let identifier: String

        /// A folder that doesn't exist yet. It is removed after the check.
        public let directory: FileManager.Directory

        /// The clock of the check. It stands still unless the check moves it.
        public let clock = ManualClock()

        /// Creates a workspace that is used nowhere else.
        public init() {
            identifier = "w" + UUID().uuidString.lowercased().filter { $0 != "-" }
            directory = .temporary(appendingPath: "bodega-conformance-\(identifier)")
        }
    }
}
