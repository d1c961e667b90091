def first(a, b, c):
    if a and b and not c or a is None:
        return [x for x in b if x if x > 2]
    elif a < b <= c:
        for i in range(3):
            a += i
        else:
            a = -a
    else:
        while a not in b:
            a -= 1
    return a if b else c


def second(x):
    try:
        assert x
        y = x ** 2 // 3 % 5
    except ValueError:
        y = ~x & 7 | 1
    except (TypeError, KeyError) as error:
        y = error
    else:
        y = lambda z: z @ x if z else x
    finally:
        print(y)
    return {k: v for k, v in y.items() for k in v}


def third(x):
    match x:
        case 1:
            return "one" + str(1.0)
        case 2 | 3:
            return "one" * 2
        case _:
            return x.a + x.b + x.a
