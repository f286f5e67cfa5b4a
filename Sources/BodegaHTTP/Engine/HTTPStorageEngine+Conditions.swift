public import Bodega
public import Foundation

// Changes with conditions, by the entity tags of the server; see RFC 9110, section 13.
extension HTTPStorageEngine {
    /// How often a change is sent whose outcome is not known.
    private static let maximumAttempts = 3

    /// A change of one item that depends on what the item is.
    private struct ConditionalChange {
        let key: CacheKey
        let url: URL
        /// The object to write; `nil` to remove the item.
        let written: Data?
        /// What the item must be; `nil` if there must be none.
        let expected: Data?
    }

    /// Applies an operation under a condition on the same item.
    func apply(
        _ operations: [StorageOperation], if condition: StorageCondition
    ) async throws -> StorageAnswer<BatchOutcome> {
        guard options.usesEntityTags else { throw StorageError.missingConditions }
        let change = try change(operations, if: condition)
        return StorageAnswer(BatchOutcome(wasApplied: try await apply(change)))
    }

    private func change(
        _ operations: [StorageOperation], if condition: StorageCondition
    ) throws -> ConditionalChange {
        guard operations.count == 1 else { throw StorageError.notOneItem }
        switch try step(operations[0]) {
        case .put(let url, let data, let key) where key == condition.key:
            return ConditionalChange(key: key, url: url, written: data, expected: condition.data)
        case .delete(let url, let key) where key == condition.key:
            return ConditionalChange(key: key, url: url, written: nil, expected: condition.data)
        default: throw StorageError.notOneItem
        }
    }

    /// Carries out a change.
    ///
    /// The condition is on the bytes that a read returns, so they are compared here. The tag of the same response says
    /// that they are still those when the server changes the item. Whether a change whose response was lost was carried
    /// out follows from the next read, and it is sent again under the same tag if it was not: both can't be.
    private func apply(_ change: ConditionalChange) async throws -> Bool {
        var failure: (any Error)?
        for _ in 0..<Self.maximumAttempts {
            let current: (response: HTTPStorageResponse, data: Data)?
            do {
                current = try await fetchResponse(key: change.key)
            } catch {
                if let failure { throw failure }
                throw await reason(for: error, change.key)
            }
            // Sent before.
            if let failure, !JSONObjects.areSame(current?.data, change.expected) {
                if JSONObjects.areSame(current?.data, change.written) { return true }
                throw failure
            }
            guard JSONObjects.areSame(current?.data, change.expected) else {
                try await checkForm(of: change, current?.data)
                return false
            }
            if current == nil, change.written == nil { return true }
            do {
                return try await send(change, under: try condition(current?.response, change.key))
            } catch let error as StorageError where StorageRetryPolicy.isTemporary(error) {
                failure = error
            } catch let error as StorageError where failure != nil && error.isUnmet {
                // Perhaps by an earlier attempt, which has arrived since.
                if JSONObjects.areSame(try await fetchResponse(key: change.key)?.data, change.written) { return true }
                throw failure ?? error
            } catch let error as StorageError where error.isUnmet {
                try await checkRefusal(of: change, current, error)
                return false
            }
        }
        throw failure ?? StorageError(.unreachable, "The change was sent several times, without an answer.")
    }

    /// Returns the error of a change whose item could not be read.
    ///
    /// If the collection can't be read, either, the reason is not the item: a network that asks to log in may answer in
    /// place of the server, for example, or the server has lost its database. Then the change can be made later. That
    /// may have ended before the collection was read, so the item is read once more.
    private func reason(for error: any Error, _ key: CacheKey) async -> any Error {
        guard let error = error as? StorageError, error.code != .unauthorized, !StorageRetryPolicy.isTemporary(error)
        else { return error }
        do {
            _ = try await fetchCollection()
        } catch let other as StorageError where other.code != .unauthorized && !StorageRetryPolicy.isTemporary(other) {
            return StorageError(.unreachable, "Neither the item nor the collection can be read.", cause: other)
        } catch let other {
            return other
        }
        do {
            _ = try await fetchResponse(key: key)
            return StorageError(.unreachable, "The item could not be read before.", key: key, cause: error)
        } catch let later {
            return later
        }
    }

    /// Throws if the collection has an item as it is expected, but the item's own address has another form of it.
    ///
    /// With such an API, a caller that reads the collection would always expect what is not there, and try for ever.
    private func checkForm(of change: ConditionalChange, _ current: Data?) async throws {
        guard let expected = change.expected,
            JSONObjects.areSame(try await fetchCollection().fetch(key: change.key), expected),
            try await fetchResponse(key: change.key)?.data == current
        else { return }
        throw StorageError(
            .invalidArgument,
            """
            The response for the collection has another form of the item than that for the item itself, so it can't be \
            changed under a condition. Use an API that has the same members in both.
            """,
            key: change.key)
    }

    /// Throws if the server has refused a change whose condition was met, and still is.
    ///
    /// A caller that reads the item would find it unchanged, and try for ever.
    private func checkRefusal(
        of change: ConditionalChange, _ known: (response: HTTPStorageResponse, data: Data)?, _ error: StorageError
    ) async throws {
        let current = try await fetchResponse(key: change.key)
        guard current?.data == known?.data, current?.response.header("ETag") == known?.response.header("ETag") else {
            return
        }
        throw StorageError(
            .refused,
            """
            The server has refused to change the item under a condition that is met: the item has not changed since it \
            was read.
            """,
            key: change.key, cause: error.cause)
    }

    /// The header for a change of an item as it is in a response; `nil` if there is no item.
    private func condition(_ response: HTTPStorageResponse?, _ key: CacheKey) throws -> (name: String, value: String) {
        guard let response else { return ("If-None-Match", "*") }
        // A weak tag says nothing about bytes: RFC 9110, section 8.8.1.
        guard let tag = response.header("ETag"), tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else {
            throw StorageError(
                .invalidArgument,
                """
                The server sends no strong entity tag with the item, so it can't be changed under a condition. Use an \
                API that does, or write without conditions.
                """,
                key: key)
        }
        return ("If-Match", tag)
    }

    private func send(_ change: ConditionalChange, under condition: (name: String, value: String)) async throws -> Bool
    {
        let response = try await send(
            change.written == nil ? .delete : .put, change.url, key: change.key, body: change.written,
            condition: condition)
        // Another writer has removed the item. Some servers say so instead of 412.
        return !response.isAbsence
    }

    /// Checks that the server keeps conditions, with an item that must not exist.
    ///
    /// A server that ignores the headers of conditions would overwrite what other writers have written in between,
    /// which can't be noticed later. This method asks it to write an item if its entity tag is one that no item has. A
    /// server that keeps conditions refuses that. One that does not writes the item, which is then removed again.
    ///
    /// - Parameters:
    ///   - data: An item that the API accepts.
    ///   - key: Its key, under which there is no item and no other writer writes one, such as a new UUID.
    /// - Throws: A `StorageError`: `invalidArgument` if there is such an item, or the server ignores conditions;
    ///   `refused` if the server does not accept the item, so that it is not known whether it does.
    public func checkConditions(writing data: Data, key: CacheKey) async throws {
        guard case .put(let url, let body, _) = try step(.write(key: key, data: data)) else { return }
        guard try await fetchResponse(key: key) == nil else {
            throw StorageError(.invalidArgument, "The item to check conditions with exists. Use another key.", key: key)
        }
        do {
            let condition = (name: "If-Match", value: "\"\(UUID().uuidString)\"")
            let response = try await send(.put, url, key: key, body: body, condition: condition)
            if response.isAbsence { return }
        } catch let error as StorageError where error.isUnmet {
            return
        }
        _ = try await send(.delete, url, key: key)
        throw StorageError(
            .invalidArgument,
            """
            The server ignores the header If-Match, so a change under a condition could overwrite what others have \
            written. Don't set HTTPStorageOptions.usesEntityTags.
            """,
            key: key)
    }
}

extension StorageError {
    /// Whether the server has found that a condition is not met.
    fileprivate var isUnmet: Bool { (cause as? HTTPStatusError)?.status == 412 }

    static let notOneItem = StorageError(
        .invalidArgument,
        """
        An API changes one item under a condition: a batch has one write or removal, and one condition on the same key.
        """)
}
