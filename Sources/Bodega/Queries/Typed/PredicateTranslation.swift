import Foundation

/// Translates a predicate into a ``QueryCondition``, as far as it compares indexed properties with constants.
struct PredicateTranslation<Object> {
    let indexes: [Index<Object>]
    let dates: DateForm?

    func condition(of predicate: Predicate<Object>) -> QueryCondition {
        translate(predicate.expression)
    }

    func translate(_ expression: any PredicateExpression) -> QueryCondition {
        let condition = (expression as? any TranslatableExpression)?.condition(in: self) ?? .opaque
        guard case .opaque = condition else { return condition }
        do {
            // An expression about constants only, such as `text.isEmpty`.
            return .constant(try expression.evaluate(PredicateBindings()) as? Bool == true)
        } catch {
            // It is about the object, which has no value here.
            return .opaque
        }
    }

    /// The condition that a property compares with a constant in a certain way.
    func comparison(
        _ property: Any, _ comparison: JSONFilter.Comparison, _ constant: Any
    ) -> QueryCondition? {
        guard let index = index(of: property), let constant = (constant as? any ConstantExpression)?.constant else {
            return nil
        }
        if comparison == .notEqual {
            if let bool = constant.value as? Bool, type(of: index.keyPath).valueType == Bool.self {
                return self.comparison(property, .equal, ConstantOperand(constant: Constant(value: !bool)))
            }
            return self.comparison(property, .equal, ConstantOperand(constant: constant)).map(QueryCondition.not)
        }
        guard let form = ConstantForm(constant.value, dates: dates) else { return nil }
        return condition(index, comparison, form)
    }

    /// The condition that a property is one of several constants.
    func containment(_ property: Any, in constants: Any) -> QueryCondition? {
        guard let values = (constants as? any ConstantExpression)?.constant?.value as? any Sequence else { return nil }
        var condition: QueryCondition?
        var count = 0
        for value in values {
            count += 1
            guard count <= 1000,
                let one = comparison(property, .equal, ConstantOperand(constant: Constant(value: value)))
            else { return nil }
            condition = condition.map { .or($0, one) } ?? one
        }
        return condition ?? .constant(false)
    }

    /// The condition that the property of an index is one of any number of values; `nil` if the coder may store one of
    /// them in another form.
    func membership(_ index: Index<Object>, of values: [Any]) -> QueryCondition? {
        var (possible, needsTextIndex): ([StorageSortKeyRanges], Bool) = ([], false)
        for value in values {
            guard let form = ConstantForm(value, dates: dates) else { return nil }
            possible.append(form.equal)
            needsTextIndex = needsTextIndex || form.needsTextIndex
        }
        return member(index, .union(possible), .empty, needsTextIndex: needsTextIndex)
    }

    /// The condition that a text begins with a constant.
    func prefix(_ property: Any, _ constant: Any) -> QueryCondition? {
        guard let index = index(of: property),
            let text = (constant as? any ConstantExpression)?.constant?.value as? String
        else {
            return nil
        }
        let (possible, certain) = SwiftText.starting(with: text.precomposedStringWithCanonicalMapping)
        return member(index, possible, certain, needsTextIndex: true)
    }

    private func condition(
        _ index: Index<Object>, _ comparison: JSONFilter.Comparison, _ form: ConstantForm
    ) -> QueryCondition? {
        guard let key = form.key else {
            return comparison == .equal ? member(index, .none, .none, needsTextIndex: false) : nil
        }
        if comparison == .equal {
            let certain = form.isExact ? StorageSortKeyRanges(key) : .empty
            return member(index, form.equal, certain, needsTextIndex: form.needsTextIndex)
        }
        guard form.isOrdered else { return nil }
        let exact = comparison.ranges(of: key, in: form.all)
        let uncertain = form.isExact && form.equal.isOneKey ? .empty : form.equal
        return member(
            index, exact.union(uncertain), exact.subtracting(uncertain), needsTextIndex: form.needsTextIndex)
    }

    private func member(
        _ index: Index<Object>, _ possible: StorageSortKeyRanges, _ certain: StorageSortKeyRanges, needsTextIndex: Bool
    ) -> QueryCondition {
        let isOptional = type(of: index.keyPath).valueType is any OptionalType.Type
        // A type may decode a missing member as a value, when it was added to the type later.
        let missing: StorageSortKeyRanges = isOptional ? .empty : .none
        return .member(
            path: MemberPath(index.storageIndex.path), possible: possible.union(missing),
            certain: certain.subtracting(missing),
            needsTextIndex: needsTextIndex)
    }

    func index(of expression: Any) -> Index<Object>? {
        guard let keyPath = (expression as? any PropertyExpression)?.keyPathFromRoot else { return nil }
        return indexes.first { $0.keyPath == keyPath }
    }
}

/// An expression that has a translation.
protocol TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition
}

/// An expression with a constant value.
protocol ConstantExpression {
    /// The value; `nil` if it is not a constant.
    var constant: Constant? { get }
}

/// A value, which can be `nil`.
struct Constant {
    let value: Any
}

/// An expression for a property of the object.
protocol PropertyExpression {
    /// The key path from the object; `nil` if it begins elsewhere.
    var keyPathFromRoot: AnyKeyPath? { get }
}

private struct ConstantOperand: ConstantExpression {
    let constant: Constant?
}

extension PredicateExpressions.Value: ConstantExpression {
    var constant: Constant? { Constant(value: value) }
}

extension PredicateExpressions.NilLiteral: ConstantExpression {
    var constant: Constant? { Constant(value: Wrapped?.none as Any) }
}

/// A property of a captured value.
extension PredicateExpressions.KeyPath: ConstantExpression {
    var constant: Constant? {
        guard let root = (root as? any ConstantExpression)?.constant?.value as? Root.Output else { return nil }
        return Constant(value: root[keyPath: keyPath])
    }
}

extension PredicateExpressions.KeyPath: PropertyExpression {
    var keyPathFromRoot: AnyKeyPath? {
        if root is any VariableExpression { return keyPath }
        return (root as? any PropertyExpression)?.keyPathFromRoot?.appending(path: keyPath)
    }
}

private protocol VariableExpression {}
extension PredicateExpressions.Variable: VariableExpression {}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        guard Output.self == Bool.self else { return .opaque }
        return translation.comparison(self, .equal, ConstantOperand(constant: Constant(value: true))) ?? .opaque
    }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition { .opaque }
}

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        .conjunction(translation.translate(lhs), translation.translate(rhs))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        .disjunction(translation.translate(lhs), translation.translate(rhs))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        // As `flag == false`: one key, where the complement of `true` would be all others.
        let isFalse = ConstantOperand(constant: Constant(value: false))
        return translation.comparison(wrapped, .equal, isFalse) ?? .negation(translation.translate(wrapped))
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        translation.comparison(lhs, .equal, rhs) ?? translation.comparison(rhs, .equal, lhs) ?? .opaque
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        translation.comparison(lhs, .notEqual, rhs) ?? translation.comparison(rhs, .notEqual, lhs) ?? .opaque
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        let (forward, backward): (JSONFilter.Comparison, JSONFilter.Comparison)
        switch op {
        case .lessThan: (forward, backward) = (.less, .greater)
        case .lessThanOrEqual: (forward, backward) = (.atMost, .atLeast)
        case .greaterThan: (forward, backward) = (.greater, .less)
        case .greaterThanOrEqual: (forward, backward) = (.atLeast, .atMost)
        @unknown default: return .opaque
        }
        return translation.comparison(lhs, forward, rhs) ?? translation.comparison(rhs, backward, lhs) ?? .opaque
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        translation.containment(element, in: sequence) ?? .opaque
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func condition<Object>(in translation: PredicateTranslation<Object>) -> QueryCondition {
        translation.prefix(base, prefix) ?? .opaque
    }
}
