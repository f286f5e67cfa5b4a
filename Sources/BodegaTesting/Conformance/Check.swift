import Bodega

extension StorageEngineConformance {

    /// One contract of storage engines and a check of it.
    public struct Check: Sendable, Hashable, CaseIterable, Identifiable, CustomStringConvertible {

        /// The contract as a sentence.
        public let name: String

        /// The capabilities that an engine must promise for the check to apply.
        public let capabilities: Capabilities

        /// The closure of a configuration that the check needs.
        enum Need { case refusedOperation, brokenStorage, collections }

        let need: Need?
        let body: @Sendable (Examination) async throws -> Void

        /// A check that opens engines as it needs them.
        init(
            _ name: String,
            requires capabilities: Capabilities = [],
            needs need: Need? = nil,
            sessions body: @escaping @Sendable (Examination) async throws -> Void
        ) {
            (self.name, self.capabilities, self.need, self.body) = (name, capabilities, need, body)
        }

        /// A check on one engine that stays open.
        init(
            _ name: String,
            requires capabilities: Capabilities = [],
            needs need: Need? = nil,
            engine body: @escaping @Sendable (Examination, any StorageEngine) async throws -> Void
        ) {
            self.init(name, requires: capabilities, needs: need) { examination in
                try await examination.session { engine in try await body(examination, engine) }
            }
        }

        /// A check that applies to some engines only, and passes on others.
        init(
            _ name: String,
            requires capabilities: Capabilities = [],
            needs need: Need? = nil,
            appliesTo canApply: @escaping @Sendable (any StorageBackend) -> Bool,
            backend body: @escaping @Sendable (Examination, any StorageBackend) async throws -> Void
        ) {
            self.init(name, requires: capabilities, needs: need) { examination, engine in
                if canApply(engine.backend) { try await body(examination, engine.backend) }
            }
        }

        /// All checks.
        public static let allCases: [Check] =
            reading + writing + order + batches + keys + values + streams + requests + dates + concurrency
            + reopening + changeFeeds + conditions + transactions + references + queries + searches

        /// The name.
        public var id: String { name }

        /// The name.
        public var description: String { name }

        /// Compares the names.
        public static func == (left: Check, right: Check) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}
