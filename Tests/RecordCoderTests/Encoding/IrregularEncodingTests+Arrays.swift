import RecordCoder
import Testing

extension IrregularEncodingTests {

    @Test("An element can write to its enclosing array, or to the one around that")
    func writingToTheArray() {
        expectLeftToFoundation(
            Custom { outer in
                var array = outer.unkeyedContainer()
                try array.encode(
                    Custom { _ in
                        var same = outer.unkeyedContainer()
                        try same.encode(5)
                    }
                )
            }
        )
        expectLeftToFoundation(
            Custom { outer in
                var array = outer.unkeyedContainer()
                try array.encode(
                    Custom { own in
                        var container = own.singleValueContainer()
                        try container.encode(1)
                        var same = outer.unkeyedContainer()
                        try same.encode(5)
                    }
                )
            }
        )
        expectLeftToFoundation(
            Custom { outer in
                var array = outer.unkeyedContainer()
                var inner = array.nestedUnkeyedContainer()
                try inner.encode(1)
                try inner.encode(
                    Custom { _ in
                        var around = outer.unkeyedContainer()
                        try around.encode(5)
                    }
                )
            }
        )
    }
}
