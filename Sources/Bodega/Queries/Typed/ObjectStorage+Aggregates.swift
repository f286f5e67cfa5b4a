import Foundation

extension ObjectStorage {

    /// Counts the objects that match a query, for each value of a property.
    ///
    /// - Parameters:
    ///   - query: The query; by default, all objects match.
    ///   - property: The property.
    /// - Returns: The number of objects for each value that occurs.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func count<Value: Hashable & Sendable>(
        _ query: Query<Object> = Query(), by property: any KeyPath<Object, Value> & Sendable
    ) async throws -> [Value: Int] {
        try await reduce(query, into: [:], Properties(property).tally)
    }

    /// Adds the values of a property of the objects that match a query.
    ///
    /// The sum of integers traps on overflow.
    ///
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func sum<Value: AdditiveArithmetic>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value {
        try await reduce(query, into: .zero, Properties(property).add)
    }

    /// Returns the smallest value of a property of the objects that match a query.
    ///
    /// With an index over the property, this reads few objects.
    ///
    /// - Returns: The value that comes first in ascending order, see ``Query``; `nil` if no object matches, or none has
    ///   a value.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func minimum<Value: Comparable>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: false)
    }

    /// Returns the largest value of a property of the objects that match a query, see `minimum(of:_:)`.
    public func maximum<Value: Comparable>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: true)
    }

    /// Returns the smallest value of an optional property of the objects that match a query, see `minimum(of:_:)`.
    public func minimum<Value: Comparable>(
        of property: any KeyPath<Object, Value?> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: false) ?? nil
    }

    /// Returns the largest value of an optional property of the objects that match a query, see `minimum(of:_:)`.
    public func maximum<Value: Comparable>(
        of property: any KeyPath<Object, Value?> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: true) ?? nil
    }

    /// Returns the mean of a property of the objects that match a query.
    ///
    /// - Returns: The sum, added up as `Double`, divided by the number of objects; `nil` if no object matches.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func average<Value: BinaryInteger>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Double? {
        try await reduce(query, into: Mean(), Properties(property).add).value
    }

    /// Returns the mean of a property of the objects that match a query, see ``average(of:_:)``.
    public func average<Value: BinaryFloatingPoint>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Double? {
        try await reduce(query, into: Mean(), Properties(property).add).value
    }

    private func extremum<Value>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object>, isDescending: Bool
    ) async throws -> Value? {
        var query = query
        query.order = [Query.Term(keyPath: property, isDescending: isDescending)]
        return try await first(query).map { $0.object[keyPath: property] }
    }

    private func reduce<Result>(
        _ query: Query<Object>, into initial: Result, _ update: @escaping @Sendable (inout Result, Object) -> Void
    ) async throws -> Result {
        try await reduce(query, omitting: false, into: initial, update).value
    }

    /// Combines the objects that match a query, one after the other.
    ///
    /// - Parameter omitting: Whether records that can't be decoded or decrypted are omitted.
    func reduce<Result>(
        _ query: Query<Object>, omitting: Bool, into initial: Result,
        _ update: @escaping @Sendable (inout Result, Object) -> Void
    ) async throws -> (value: Result, unreadable: [StorageError]) {
        prepareIndexes()
        return try await reading(query.unordered, omitting) { query, engine in
            let reduction = Reduction(initial, update)
            try await query.forEachMatch(in: engine, reduction.begin)
            return reduction.result
        }
    }
}

/// Combines objects one after the other.
///
/// @unchecked because an engine passes on items one at a time, and the result is taken after the last one.
private final class Reduction<Object, Result>: @unchecked Sendable {
    private(set) var result: Result
    private let initial: Result
    private let update: @Sendable (inout Result, Object) -> Void

    init(_ initial: Result, _ update: @escaping @Sendable (inout Result, Object) -> Void) {
        (self.result, self.initial) = (initial, initial)
        self.update = update
    }

    @Sendable func begin() -> @Sendable (Query<Object>.Match) -> Void {
        result = initial
        return receive
    }

    @Sendable private func receive(_ match: Query<Object>.Match) {
        update(&result, match.object)
    }
}

/// The values of a property of many objects.
///
/// @unchecked because the types need not be `Sendable`, and each object is used by one thread only.
struct Properties<Object, Value>: @unchecked Sendable {
    private let property: KeyPath<Object, Value>

    init(_ property: KeyPath<Object, Value>) { self.property = property }

    @Sendable func value(_ match: Query<Object>.Match) -> Value { match.object[keyPath: property] }

    @Sendable func tally(_ counts: inout [Value: Int], _ object: Object) where Value: Hashable {
        counts[object[keyPath: property], default: 0] += 1
    }

    @Sendable func add(_ sum: inout Value, _ object: Object) where Value: AdditiveArithmetic {
        sum += object[keyPath: property]
    }

    @Sendable fileprivate func add(_ mean: inout Mean, _ object: Object) where Value: BinaryInteger {
        mean.add(Double(object[keyPath: property]))
    }

    @Sendable fileprivate func add(_ mean: inout Mean, _ object: Object) where Value: BinaryFloatingPoint {
        mean.add(Double(object[keyPath: property]))
    }
}

/// A mean that is being added up.
private struct Mean {
    private var (sum, count) = (0.0, 0.0)

    var value: Double? { count == 0 ? nil : sum / count }

    mutating func add(_ value: Double) {
        sum += value
        count += 1
    }
}
