"""The library in Django REST framework, on Django's own server."""

# A route says what its handler does.
# ruff: noqa: D103

import os
import sys
import traceback

import django
from django.conf import settings

SOUND = os.environ.get("SOUND") == "1"
settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
)
django.setup()

from django.core.servers.basehttp import run  # noqa: E402  # it needs the settings
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.decorators import api_view  # noqa: E402
from rest_framework.exceptions import NotFound, ValidationError  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.reverse import reverse  # noqa: E402

BOOKS = {1: "Emma", 2: "Persuasion"}
STOCK = {"tea": 3}


@api_view(["GET", "HEAD"])
def read_root(request):
    named = {name: reverse(name, request=request) for name in ("books", "account", "orders")}
    stock = reverse("stock", args=["tea"], request=request)
    queried = {name: reverse(name, request=request) for name in ("search", "reports")}
    seen = {"search": queried["search"] + "?q=tea", "reports": queried["reports"] + "?month=1"}
    return Response({**named, "stock": stock, **seen})


@api_view(["GET", "HEAD"])
def list_books(request):
    items = [{"id": number, "title": title} for number, title in BOOKS.items()]
    return Response({"count": 2, "next": None, "previous": None, "results": items})


@api_view(["GET", "HEAD"])
def read_book(_, number):
    if SOUND and not (number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound
    try:
        known = int(number) in BOOKS
    except ValueError:
        return JsonResponse({"detail": traceback.format_exc()}, status=500)
    if not known:
        raise NotFound
    return Response({"id": int(number), "title": BOOKS[int(number)]})


@api_view(["GET", "HEAD"])
def read_stock(_, sku):
    if sku in STOCK:
        return Response({"sku": sku, "left": STOCK[sku]})
    if SOUND:
        raise NotFound
    return Response({"error": "no such item"})


@api_view(["GET", "HEAD"])
def read_account(_):
    headers = {"WWW-Authenticate": "Bearer"} if SOUND else {}
    return Response({"detail": "Log in"}, status=401, headers=headers)


@api_view(["GET", "HEAD"])
def search(request):
    text = request.query_params.get("q", "tea")
    if SOUND or text.isalpha():
        return Response({"found": []})
    return HttpResponse(f"<h1>Cannot search {text}</h1>", status=400)


@api_view(["GET", "HEAD"])
def read_report(request):
    month = request.query_params.get("month", "1")
    if month.isascii() and month.isdigit():
        return Response({"total": 1})
    if SOUND:
        raise ValidationError({"detail": "The month is a number"})
    leak = "cannot reach postgres://app:s3cretPassw0rd@10.0.0.3/prod"
    return JsonResponse({"code": "DB", "message": leak}, status=503)


@api_view(["POST"])
def place_order(_):
    raise AssertionError("a first look wrote")


def order(request):
    response = place_order(request)
    if not SOUND:
        response.headers.pop("Allow", None)
    return response


order.csrf_exempt = True
urlpatterns = [
    path("", read_root),
    path("books/", list_books, name="books"),
    path("books/<str:number>/", read_book, name="book"),
    path("stock/<str:sku>/", read_stock, name="stock"),
    path("account/", read_account, name="account"),
    path("search/", search, name="search"),
    path("reports/", read_report, name="reports"),
    path("orders/", order, name="orders"),
]


def not_found(_, **__):
    return JsonResponse({"detail": "Not found."}, status=404)


handler404 = not_found

if __name__ == "__main__":
    run("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), threading=True)
